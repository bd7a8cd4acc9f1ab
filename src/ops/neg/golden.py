CASES = [dict(name="points", attrs={}, inputs=[{"shape": [2, 3]}], torch=lambda x: -x)]
