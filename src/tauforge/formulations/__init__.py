"""One file per published formulation: functions over any scalar and over plain parameter tuples."""
