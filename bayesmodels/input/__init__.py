"""Any container becomes checked, labelled arrays."""
