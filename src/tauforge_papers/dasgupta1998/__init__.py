"""B. Dasgupta, T. S. Mruthyunjaya, Mechanism and Machine Theory 33 (1998): inverse dynamics of Stewart platforms."""
