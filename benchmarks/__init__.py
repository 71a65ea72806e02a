"""What Trellis costs, measured. `python -m benchmarks` lists the benchmarks; each answers one question.

The files beside this one are the harness that all share; each folder is a room with its own queries, data and page.
"""
