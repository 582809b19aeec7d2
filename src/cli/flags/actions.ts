/**
 * Returns a function that makes a command's action, which loads the command, runs it, and gives `ended` the exit code.
 */
export function actions(ended: (exitCode: number) => void) {
  return <Words extends unknown[]>(
    load: () => Promise<(...words: Words) => number | Promise<number>>,
  ) =>
    async (...given: unknown[]): Promise<void> => {
      const carryOut = await load();
      // Commander adds the command itself to its arguments and options.
      ended(await carryOut(...(given.slice(0, -1) as Words)));
    };
}

export type Does = ReturnType<typeof actions>;
