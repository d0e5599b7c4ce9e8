// Runs one or more benchmarks by name: each prints a table for people and one line of JSON for records.
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../test/bench/', import.meta.url))
const known = readdirSync(folder)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -4))
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))

if (names.length === 0 || names.some((name) => !known.includes(name))) {
  console.error(`usage: npm run bench -- NAME…   where NAME is one of ${known.join(', ')}`)
  process.exit(2)
}
if (!existsSync(new URL('../dist/ctl/main.cjs', import.meta.url))) {
  console.error('nothing is built yet: npm run build')
  process.exit(2)
}
for (const name of names) {
  const { run } = await import(new URL(`../test/bench/${name}.mjs`, import.meta.url))
  await run(process.argv.slice(2))
}
