// Makes the contract as it is the one that was released: what follows on the main branch is compared with it, and the
// exceptions that led here have done their work. Part of every release; commit what it writes.
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONTRACT, EVENTS, RELEASED, RELEASED_EVENTS } from './lib/compat/base.mjs'
import { EXCEPTIONS } from './lib/compat/exceptions.mjs'
import { root } from './lib/root.mjs'

copyFileSync(join(root, CONTRACT), join(root, RELEASED))
copyFileSync(join(root, EVENTS), join(root, RELEASED_EVENTS))
writeFileSync(join(root, EXCEPTIONS), '[]\n')
