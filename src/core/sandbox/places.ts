/** Whether a path is a folder itself or lies below it. Both are absolute, without links. */
export function isAtOrBelow(place: string, folder: string): boolean {
  return place === folder || place.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** Returns a path below a folder; the name has no `.` or `..`. */
export function below(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`;
}

/** Whether one of the folders takes in this path. */
export function isWithinAny(place: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isAtOrBelow(place, folder));
}
