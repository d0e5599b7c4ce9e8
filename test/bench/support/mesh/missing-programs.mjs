import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** Programs that parts of the benchmark need, and the packages of Debian that have them. */
const PROGRAMS = { iperf3: 'iperf3', nebula: 'nebula', 'nebula-cert': 'nebula', ss: 'iproute2' }
const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** The programs that this machine lacks, each with the package that has it. */
export function missingPrograms(hasProgram = isInstalled) {
  const missing = Object.keys(PROGRAMS).filter((program) => !hasProgram(program))
  return missing.map((program) => ({ program, package: PROGRAMS[program] }))
}

function isInstalled(program) {
  return FOLDERS.some((folder) => isExecutable(join(folder, program)))
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
