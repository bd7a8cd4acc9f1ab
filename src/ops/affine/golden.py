CASES = [
    dict(name="both", attrs={"scale": 1.5, "shift": -0.25}, inputs=[{"shape": [2, 5]}],
         torch=lambda x: 1.5 * x - 0.25),
    dict(name="shift", attrs={"shift": 3.0}, inputs=[{"shape": [4]}], torch=lambda x: x + 3.0),
]
