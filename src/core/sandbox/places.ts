/** Whether a path is `folder` itself or lies below it. Both are absolute paths without symbolic links. */
export function isAtOrBelow(place: string, folder: string): boolean {
  return place === folder || place.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** Returns the path of `name` below a folder; `name` contains no `.` or `..`. */
export function below(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`;
}

/** Whether a path is one of the folders or lies below one of them. */
export function isWithinAny(place: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isAtOrBelow(place, folder));
}
