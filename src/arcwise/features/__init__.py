"""What is phi? Token attributes, templates written as data, scoring kernels."""
