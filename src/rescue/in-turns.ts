/** Returns a function that runs jobs one after the other: each job starts when all earlier ones have ended. */
export function inTurns(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const own = last.then(job);
    last = own.catch(() => {});
    return own;
  };
}
