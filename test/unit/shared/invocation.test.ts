import { describe, expect, it } from 'vitest'
import { commandBesideServer, commandOnPages, isByNpx, npxCommand } from '../../../src/shared/invocation.ts'

const NPX = { npm_command: 'exec', npm_lifecycle_event: 'npx' }
const CHECKOUT = '/home/ana/ctl/'
const INSTALLED = '/usr/lib/node_modules/ctl-mesh/'

describe('How this program is typed', () => {
  it('npx is told the name of the package outside a checkout, where the name of the command is somebody else’s package', () => {
    expect(npxCommand(CHECKOUT)).toBe('npx ctl')
    expect(npxCommand(INSTALLED)).toBe('npx ctl-mesh')
  })

  it.each([
    ['npm start in a checkout', {}, CHECKOUT, 'npx ctl'],
    ['npx ctl in a checkout', NPX, CHECKOUT, 'npx ctl'],
    ['npx ctl-mesh', NPX, '/home/ana/.npm/_npx/8a1/node_modules/ctl-mesh/', 'npx ctl-mesh'],
    ['ctl, installed for the machine', {}, INSTALLED, 'ctl'],
  ])('beside a server that was started with %s', (_, env, folder, command) => {
    expect(commandBesideServer(env, folder)).toBe(command)
  })

  it.each([
    ['ctl', 'https://ctl.example.org', 'ctl'],
    ['npx ctl-mesh', 'http://127.0.0.1:7443', 'npx ctl-mesh'],
    ['npx ctl', 'http://127.0.0.1:7443', 'npx ctl'],
    ['npx ctl', 'http://[::1]:7443', 'npx ctl'],
    ['npx ctl', 'https://localhost:7443', 'npx ctl'],
    ['npx ctl', 'https://ctl.example.org', 'npx ctl-mesh'],
    ['npx ctl', 'https://127.0.0.1.example.org', 'npx ctl-mesh'],
  ])('%s is on the pages of %s: %s', (beside, baseUrl, command) => {
    expect(commandOnPages(beside, baseUrl)).toBe(command)
  })

  it('a script of npm is not npx', () => {
    expect(isByNpx({ npm_command: 'run-script', npm_lifecycle_event: 'start' })).toBe(false)
  })
})
