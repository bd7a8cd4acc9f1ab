import torch

POINTS = [-30.0, -5.5, -1.0, -0.25, 0.0, 0.25, 1.0, 2.5, 7.0, 30.0]
CASES = [dict(name="points", attrs={}, inputs=[{"values": POINTS}], torch=torch.relu)]
