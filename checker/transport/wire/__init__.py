"""The wire format: values to text and bytes, and back."""
