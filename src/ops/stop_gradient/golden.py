CASES = [dict(name="detach", attrs={}, inputs=[{"shape": [2, 3]}], torch=lambda x: x.detach() * 1)]
