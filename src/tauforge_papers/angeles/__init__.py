"""J. Angeles, Fundamentals of Robotic Mechanical Systems, chapter 7: dynamics of serial manipulators."""
