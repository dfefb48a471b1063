"""How fast is it? What `arcwise bench` measures: ours and its peers, interleaved in one process."""
