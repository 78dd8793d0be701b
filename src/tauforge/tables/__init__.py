"""CSV with named columns and units: read strictly into SI, written exactly, with a robot's columns by convention."""
