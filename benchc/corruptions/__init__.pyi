from benchc.corruptions.corrupt import corrupt as corrupt
