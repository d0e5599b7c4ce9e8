// Runs one or more benchmarks by name: each prints a table for people and one line of JSON for records. With
// --against=DIR those of another built checkout run in turns with them, and the medians of --rounds=N (5) are compared.
import { existsSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchAgainst } from './lib/bench-against.mjs'

const folder = fileURLToPath(new URL('../test/bench/', import.meta.url))
const known = readdirSync(folder)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -4))
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'))
const valueOf = (name) => flags.find((flag) => flag.startsWith(`--${name}=`))?.slice(name.length + 3)
const other = valueOf('against')

if (names.length === 0 || names.some((name) => !known.includes(name))) {
  console.error(`usage: npm run bench -- NAME… [--against=DIR [--rounds=N]]   where NAME is one of ${known.join(', ')}`)
  process.exit(2)
}
if (!existsSync(new URL('../dist/ctl/main.cjs', import.meta.url))) {
  console.error('nothing is built yet: npm run build')
  process.exit(2)
}
if (other !== undefined) {
  const args = flags.filter((flag) => !/^--(?:against|rounds)=/.test(flag))
  const isAsFast = benchAgainst({ other: resolve(other), names, args, rounds: Number(valueOf('rounds') ?? 5) })
  process.exit(isAsFast ? 0 : 1)
}
for (const name of names) {
  const { run } = await import(new URL(`../test/bench/${name}.mjs`, import.meta.url))
  await run(process.argv.slice(2))
}
