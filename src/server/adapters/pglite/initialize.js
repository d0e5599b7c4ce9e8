// @ts-check
// Plain JavaScript, checked through JSDoc: a child process runs it straight from the source tree too, and Node 20 does
// not strip types. It is a process of its own because initialisation peaks at several times the steady memory.
import { PGlite } from '@electric-sql/pglite'

const directory = process.argv[2]
if (directory === undefined) throw new Error('usage: initialize <directory>')
const engine = await PGlite.create(directory)
await engine.close()
