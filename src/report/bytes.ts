/** Formats a number of bytes: `812 B`, `4.0 KB`, `17.2 MB` (powers of 1,024). */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let [size, unit] = [bytes / 1024, 'KB'];
  for (const larger of ['MB', 'GB', 'TB']) {
    if (size < 1023.95) break;
    [size, unit] = [size / 1024, larger];
  }
  return `${size.toFixed(1)} ${unit}`;
}
