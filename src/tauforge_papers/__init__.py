"""The five papers reproduced: figures, tables, and a verdict on every claim."""
