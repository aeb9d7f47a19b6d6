from benchc.corruptions.one_image import corrupt as corrupt
