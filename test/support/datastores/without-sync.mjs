// Preloaded into a server that no test takes the power from: its first start writes a thousand files, and does not wait
// until each is on the disk. The thread of the embedded engine does not inherit this: it syncs its log as ever.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

fs.fsyncSync = () => undefined
syncBuiltinESMExports()
