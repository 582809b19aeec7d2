/**
 * Returns a function that makes a command's action. The action loads and runs the command; `ended` gets the exit code.
 */
export function actions(ended: (exitCode: number) => void) {
  return <Words extends unknown[]>(
    load: () => Promise<(...words: Words) => number | Promise<number>>,
  ) =>
    async (...given: unknown[]): Promise<void> => {
      const carryOut = await load();
      // Commander passes the command itself as the last argument, after arguments and options.
      ended(await carryOut(...(given.slice(0, -1) as Words)));
    };
}

export type Does = ReturnType<typeof actions>;
