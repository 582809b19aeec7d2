/** A part of a long table that is one test: its name, and its rows. */
type Group<Row> = readonly [name: string, rows: readonly Row[]];

/** Divides a table of cheap rows, since a test for each takes longer than the row itself. */
export function inGroups<Row>(rows: readonly Row[], size: number): readonly Group<Row>[] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index) => {
    const group = rows.slice(index * size, (index + 1) * size);
    return [`${index * size + 1} to ${index * size + group.length}`, group];
  });
}
