"""A generative adversarial network learns to draw digits, in about a minute on two cores.

usage: gan.py [FILE.pgm] [EPOCHS]
"""

import sys

import numpy as np

import thimble as tb


def generator(noise):
    """From noise to images in 0 .. 1."""
    h = tb.dense(noise, units=7 * 7 * 32, name="generator.dense")
    h = tb.reshape(h, (-1, 7, 7, 32))
    h = tb.relu(tb.batch_norm(h, name="generator.norm_1"))
    h = tb.conv_transpose2d(h, channels=16, kernel=4, stride=2, padding=1, name="generator.up_1")
    h = tb.relu(tb.batch_norm(h, name="generator.norm_2"))
    h = tb.conv_transpose2d(h, channels=1, kernel=4, stride=2, padding=1, name="generator.up_2")
    return tb.sigmoid(h)


class Discriminator:
    """How real an image looks: one number, above 0 for real. Its weights serve every image that it
    is called with."""

    def __init__(self, g):
        def weights(name, shape):
            weight = g.parameter(f"discriminator.{name}.weight", shape)
            return weight, g.parameter(f"discriminator.{name}.bias", shape[:1], tb.init.zeros())

        self.first = weights("first", (16, 4, 4, 1))
        self.second = weights("second", (32, 4, 4, 16))
        self.last = weights("last", (1, 7 * 7 * 32))

    def __call__(self, image):
        h = tb.leaky_relu(tb.conv2d(image, *self.first, stride=2, padding=1), slope=0.2)
        h = tb.leaky_relu(tb.conv2d(h, *self.second, stride=2, padding=1), slope=0.2)
        return tb.dense(tb.flatten(h), *self.last)


def model():
    g = tb.Graph()
    real = g.input("image", (28, 28, 1))
    fake = generator(tb.random_normal(tb.flatten(real)[:, :32]))  # of that shape
    discriminator = Discriminator(g)
    of_real, of_fake = discriminator(real), discriminator(fake)
    # Each network has a loss of its own; one step changes both. Goodfellow et al., 2014, with the
    # generator's loss of section 3.
    discriminator_loss = tb.mean(tb.softplus(-of_real)) + tb.mean(tb.softplus(of_fake))
    generator_loss = tb.mean(tb.softplus(-of_fake))
    g.minimize(discriminator_loss + generator_loss)
    g.metric("discriminator", discriminator_loss)
    g.metric("generator", generator_loss)
    g.output("drawn", fake)
    return g


def trainer():
    slower = tb.Adam(lr=5e-4, betas=(0.5, 0.999))
    return tb.Trainer(
        model(),
        optimizer=tb.Adam(lr=2e-3, betas=(0.5, 0.999)),
        objectives=[
            tb.Objective("discriminator", "discriminator.*", optimizer=slower),
            tb.Objective("generator", "generator.*"),
        ],
        batch=64,
    )


def write_picture(path, images):
    """8 x 8 images of 28 x 28 as one picture."""
    rows = images.reshape(8, 8, 28, 28).swapaxes(1, 2).reshape(224, 224)
    with open(path, "wb") as file:
        file.write(b"P5\n224 224\n255\n" + (255 * rows).astype(np.uint8).tobytes())


if __name__ == "__main__":
    picture = sys.argv[1] if len(sys.argv) > 1 else "gan.pgm"
    gan = trainer()
    digits = tb.data.digits(6000)
    gan.fit(digits, epochs=int(sys.argv[2]) if len(sys.argv) > 2 else 20, callbacks=[print])
    write_picture(picture, gan.predict(digits.take(64), "drawn"))
    print("wrote", picture)
