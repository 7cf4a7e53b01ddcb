"""The narrative and the heatmap of a round."""
