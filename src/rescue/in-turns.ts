/** Returns what runs jobs one after the other, each once those before it have ended. */
export function inTurns(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const own = last.then(job);
    last = own.catch(() => {});
    return own;
  };
}
