#error "the Tilewise simulator does not support group-wide scans (cooperative_groups/scan.h)"
