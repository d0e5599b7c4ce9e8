/** How often a benchmark plays both sides: `--repeat=N`, or its own number. */
export function roundsOf(args, otherwise) {
  const given = args.find((argument) => argument.startsWith('--repeat='))?.slice('--repeat='.length)
  return given === undefined ? otherwise : Number(given)
}
