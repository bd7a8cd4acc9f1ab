import thimble as tb

g = tb.Graph()
image, digit = g.input("image", (28, 28, 1)), g.label("digit")  # the batch is added by the trainer
h = tb.relu(tb.conv2d(image, channels=8, kernel=3, stride=2, padding=1))
logits = tb.dense(tb.flatten(h), units=10)
g.minimize(tb.softmax_cross_entropy(logits, digit))
g.metric("accuracy", tb.accuracy(logits, digit))
trainer = tb.Trainer(g, optimizer=tb.AdamW(lr=3e-3), batch=32, memory_budget="2 MiB")
trainer.fit(tb.data.digits(4000), epochs=3)
print(trainer.evaluate(tb.data.digits(1000, split="test")))
