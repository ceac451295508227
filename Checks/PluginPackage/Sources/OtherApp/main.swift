print("this is not App")
