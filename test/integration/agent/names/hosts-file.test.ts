import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createHostsFile } from '../../../../src/cli/agent/names/hosts-file.ts'
import { replaceText } from '../../../../src/cli/agent/names/replace-text.ts'

const isRoot = process.getuid?.() === 0
const WEB = [{ name: 'web-2', address: '100.64.0.2' }]
const BLOCK =
  '# BEGIN names of the mesh on ctl0, written by ctl agent\n100.64.0.2 web-2.mesh\n# END names of the mesh on ctl0\n'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ctl-names-'))
  path = join(folder, 'hosts')
  await writeFile(path, '127.0.0.1 localhost\n')
})

afterEach(() => rm(folder, { recursive: true }))

const text = () => readFile(path, 'utf8')

describe('names in the hosts file', () => {
  test('are in a block, which is removed without a trace', async () => {
    const hosts = createHostsFile(path, 'ctl0')
    await hosts.write(WEB)
    expect(await text()).toBe(`127.0.0.1 localhost\n${BLOCK}`)
    await hosts.remove()
    expect(await text()).toBe('127.0.0.1 localhost\n')
    expect(await readdir(folder)).toEqual(['hosts'])
  })

  test('leave bytes that are no UTF-8 unchanged', async () => {
    const bytes = Buffer.from([0x23, 0xff, 0xfe, 0x00, 0xa0, 0x0d, 0x0a, 0x85])
    await writeFile(path, bytes)
    const hosts = createHostsFile(path, 'ctl0')
    await hosts.write(WEB)
    await hosts.remove()
    expect(await readFile(path)).toEqual(bytes)
  })

  test.runIf(isRoot)('leave mode and owner of the file', async () => {
    await chown(path, 1234, 2345)
    await chmod(path, 0o640)
    await createHostsFile(path, 'ctl0').write(WEB)
    expect(await stat(path)).toMatchObject({ uid: 1234, gid: 2345, mode: 0o100_640 })
  })

  test('replace the file in one step: a reader of the former one keeps it', async () => {
    const { ino } = await stat(path)
    await createHostsFile(path, 'ctl0').write(WEB)
    expect((await stat(path)).ino).not.toBe(ino)
  })

  test('that did not change are not written', async () => {
    const hosts = createHostsFile(path, 'ctl0')
    await hosts.write(WEB)
    const { ino, mtimeMs } = await stat(path)
    await hosts.write([...WEB])
    expect(await stat(path)).toMatchObject({ ino, mtimeMs })
  })

  test('follow a symbolic link and leave it', async () => {
    const link = join(folder, 'link')
    await symlink('hosts', link)
    await createHostsFile(link, 'ctl0').write(WEB)
    expect(await text()).toContain(BLOCK)
    expect((await readdir(folder, { withFileTypes: true })).find(({ name }) => name === 'link')?.isSymbolicLink()).toBe(
      true,
    )
  })

  test('are put in again after another program removed them, and beside its changes', async () => {
    const hosts = createHostsFile(path, 'ctl0')
    await hosts.write(WEB)
    await writeFile(path, 'changed')
    await hosts.write(WEB)
    await writeFile(path, `${await text()}more\n`)
    await hosts.remove()
    expect(await text()).toBe('changed\nmore\n')
  })

  test('are refused where the block is broken, and the file is unchanged', async () => {
    const broken = `127.0.0.1 localhost\n${BLOCK.split('\n').slice(0, 2).join('\n')}\n`
    await writeFile(path, broken)
    const hosts = createHostsFile(path, 'ctl0')
    await expect(hosts.write(WEB)).rejects.toMatchObject({ code: 'hosts_block_broken' })
    await expect(hosts.remove()).rejects.toMatchObject({
      code: 'hosts_block_broken',
      hints: [expect.stringMatching(/^Delete the lines from "# BEGIN .*" to "# END .*"/)],
    })
    expect(await text()).toBe(broken)
  })

  test('are refused where there is no file, and none is created; there is nothing to remove', async () => {
    await rm(path)
    await createHostsFile(path, 'ctl0').remove()
    await expect(createHostsFile(path, 'ctl0').write(WEB)).rejects.toMatchObject({
      code: 'hosts_file_unwritable',
      message: expect.stringContaining('ENOENT'),
    })
    expect(await readdir(folder)).toEqual([])
  })

  test('are added to what another program writes between reading and replacing', async () => {
    let edits = 0
    await replaceText(path, (before) => {
      edits += 1
      // The other program writes during the first edit only.
      if (edits === 1) execFileSync('sh', ['-c', 'echo 192.0.2.1 other >> "$0"', path])
      return `${before}mine\n`
    })
    expect(edits).toBe(2)
    expect(await text()).toBe('127.0.0.1 localhost\n192.0.2.1 other\nmine\n')
  })

  test('give up where another program writes all the time', async () => {
    let writes = 0
    const edit = (before: string) => {
      writes += 1
      execFileSync('sh', ['-c', 'echo 192.0.2.1 other >> "$0"', path])
      return `${before}mine\n`
    }
    await expect(replaceText(path, edit)).rejects.toMatchObject({ code: 'hosts_file_unwritable' })
    expect(writes).toBe(5)
    expect(await text()).not.toContain('mine')
    expect(await readdir(folder)).toEqual(['hosts'])
  })
})

describe.runIf(isRoot)('a hosts file that is a mount point, as in a container', () => {
  beforeEach(() => execFileSync('mount', ['--bind', path, path]))
  afterEach(() => execFileSync('umount', [path]))

  test('is written in place', async () => {
    const { ino } = await stat(path)
    const hosts = createHostsFile(path, 'ctl0')
    await hosts.write(WEB)
    expect(await text()).toBe(`127.0.0.1 localhost\n${BLOCK}`)
    await hosts.write([])
    await hosts.remove()
    expect(await text()).toBe('127.0.0.1 localhost\n')
    expect((await stat(path)).ino).toBe(ino)
    expect(await readdir(folder)).toEqual(['hosts'])
  })

  test('that cannot be written is refused', async () => {
    execFileSync('mount', ['-o', 'remount,bind,ro', path])
    await expect(createHostsFile(path, 'ctl0').write(WEB)).rejects.toMatchObject({
      code: 'hosts_file_unwritable',
      message: expect.stringContaining('EROFS'),
    })
    expect(await text()).toBe('127.0.0.1 localhost\n')
  })
})

describe.runIf(isRoot)('a full disk', () => {
  test('leaves the file as it was, replaced or written in place', async () => {
    const disk = join(folder, 'disk')
    execFileSync('sh', ['-c', 'mkdir "$0" && mount -t tmpfs -o size=64k tmpfs "$0"', disk])
    const file = join(disk, 'hosts')
    try {
      await writeFile(file, '127.0.0.1 localhost\n')
      const many = Array.from({ length: 5_000 }, (_, n) => ({ name: `web-${n}`, address: '100.64.0.2' }))
      const refused = { code: 'hosts_file_unwritable', message: expect.stringContaining('ENOSPC') }
      await expect(createHostsFile(file, 'ctl0').write(many)).rejects.toMatchObject(refused)
      expect(await readFile(file, 'utf8')).toBe('127.0.0.1 localhost\n')
      execFileSync('mount', ['--bind', file, file])
      await expect(createHostsFile(file, 'ctl0').write(many)).rejects.toMatchObject(refused)
      expect(await readFile(file, 'utf8')).toBe('127.0.0.1 localhost\n')
      execFileSync('umount', [file])
    } finally {
      execFileSync('umount', [disk])
    }
  })
})

describe.runIf(isRoot)('a program of the machine', () => {
  test('finds a node by its name in the hosts file, and no longer once the block is removed', async () => {
    const getent = () =>
      execFileSync(
        'unshare',
        ['-m', 'sh', '-c', 'mount --bind "$0" /etc/hosts && getent hosts web-2.mesh || true', path],
        {
          encoding: 'utf8',
        },
      )
    const hosts = createHostsFile(path, 'ctl0')
    await hosts.write(WEB)
    expect(getent()).toMatch(/^100\.64\.0\.2\s+web-2\.mesh\n$/)
    await hosts.remove()
    expect(getent()).toBe('')
  })
})
