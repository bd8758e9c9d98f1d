"""Small services with defects that are planted, labelled, and can be mended one by one."""
