CASES = [
    dict(name="halves_to_even", attrs={}, torch=lambda x: x + (x.round() - x).detach(),
         inputs=[{"values": [0.5, 1.5, -0.5, -1.5, 2.5, 0.25, -3.75, 7.0]}]),
]
