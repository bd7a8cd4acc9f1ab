CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [-30.0, -1.0, -0.25, 0.01, 0.5, 2.5, 30.0]}],
         torch=lambda x: 1 / x),
    dict(name="infinite", attrs={}, inputs=[{"values": [float("inf"), -float("inf"), 2.0]}],
         torch=lambda x: 1 / x),
]
