"""Serial arms."""
