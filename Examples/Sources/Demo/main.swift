import Foundation

// A photo viewer opens three albums and closes them again. Every object should be gone at the end.

for name in ["Iceland", "Madeira", "Home"] {
  let album = openAlbum(name)
  print("opened", album.name, "with", album.photos.count, "photos")
}
print("closed all albums")

@MainActor func openAlbum(_ name: String) -> AlbumModel {
  let album = AlbumModel(name: name)
  album.slideShow.start()
  album.load()
  return album
}
