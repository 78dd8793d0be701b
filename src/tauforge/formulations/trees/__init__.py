"""Trees of rigid bodies: frames at joints, recursions, composite bodies. A chain is a tree without branches."""
