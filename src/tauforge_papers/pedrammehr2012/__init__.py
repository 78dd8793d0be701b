"""S. Pedrammehr, M. Mahboubkhah & N. Khani (2012): improved dynamic equations of the Stewart platform."""
