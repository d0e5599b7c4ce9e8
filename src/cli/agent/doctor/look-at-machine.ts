import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ok, problem, warning, type Finding } from '../../commands/doctor/finding.ts'
import { missingProgram } from '../system/missing-program.ts'
import { hasNetAdmin } from '../system/privileges.ts'
import type { DoctorSystem } from './doctor-facts.ts'

/** What the agent needs of a machine, whether it is enrolled or not. */
export function lookAtMachine(system: DoctorSystem): readonly Finding[] {
  const isInKernel = hasKernelWireguard(system)
  return [
    rights(),
    needed(system, 'ip', 'no interface can be made'),
    wireguard(system, isInKernel),
    ...(isInKernel ? [needed(system, 'wg', "the kernel's WireGuard cannot be configured")] : [optionalWg(system)]),
    tun(system, isInKernel),
    needed(system, 'nft', 'policies cannot be enforced, and no packet may pass the mesh where one isolates this node'),
    conntrack(system),
  ]
}

function rights(): Finding {
  return hasNetAdmin()
    ? ok('rights', 'network interfaces may be changed')
    : problem('rights', 'this user may not change network interfaces', 'Run it with sudo, as the agent itself.')
}

function programPath({ path }: DoctorSystem, program: string): string | undefined {
  return path
    .split(':')
    .map((folder) => join(folder, program))
    .find(isExecutable)
}

function isExecutable(path: string): boolean {
  return isAccessible(path, constants.X_OK)
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

function needed(system: DoctorSystem, program: string, consequence: string): Finding {
  const path = programPath(system, program)
  if (path !== undefined) return ok(program, path)
  return problem(program, `it is not installed: ${consequence}`, missingProgram(program).hints.join(' '))
}

/** Loaded or built in, or to be loaded when the first interface is made. */
function hasKernelWireguard({ modulesFolder, modulesList }: DoctorSystem): boolean {
  if (existsSync(join(modulesFolder, 'wireguard'))) return true
  return isAccessible(modulesList, constants.R_OK) && /\/wireguard\.ko/.test(readFileSync(modulesList, 'utf8'))
}

function wireguard(system: DoctorSystem, isInKernel: boolean): Finding {
  if (isInKernel) return ok('wireguard', 'that of the kernel')
  const path = programPath(system, 'wireguard-go')
  if (path !== undefined) return ok('wireguard', `${path}: the kernel has none`)
  return problem(
    'wireguard',
    'the kernel has none, and wireguard-go is not installed',
    'Install it: apt install wireguard-go',
  )
}

function optionalWg(system: DoctorSystem): Finding {
  const path = programPath(system, 'wg')
  if (path !== undefined) return ok('wg', path)
  return warning(
    'wg',
    "it is not installed: the kernel's WireGuard could not be configured",
    missingProgram('wg').hints.join(' '),
  )
}

/** The kernel's WireGuard needs no tun device. */
function tun({ tun: path }: DoctorSystem, isInKernel: boolean): Finding {
  if (isAccessible(path, constants.R_OK | constants.W_OK)) return ok('tun', path)
  const detail = `${path} is missing or cannot be opened`
  const advice = 'Load it: modprobe tun. In a container: --device /dev/net/tun'
  return isInKernel ? warning('tun', `${detail}; only wireguard-go needs it`, advice) : problem('tun', detail, advice)
}

function conntrack(system: DoctorSystem): Finding {
  const path = programPath(system, 'conntrack')
  if (path !== undefined) return ok('conntrack', path)
  return warning(
    'conntrack',
    'it is not installed: connections that a policy withdraws end only when they are idle',
    'Install it: apt install conntrack',
  )
}
