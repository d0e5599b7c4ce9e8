import { describe, expect, test } from 'vitest'
import { underline } from '../../../../src/cli/output/underline.ts'
import { parseSelector } from '../../../../src/shared/selectors/parse-selector.ts'

const shown = (text: string, columns?: number) => underline(text, parseSelector(text).errors, columns)

describe('Errors of a selector in a terminal', () => {
  test.each<[string, readonly string[]]>([
    ['env=prod', ['env=prod']],
    ['env=prod,tier=', ['env=prod,tier=', '              ^ Expected a value, found the end of the text.']],
    [
      'Env=prod,a b',
      [
        'Env=prod,a b',
        '^^^ "Env" is not a key: a key has a-z, 0-9, ".", "_", "/" and "-", beginning and ending with a letter or digit.',
        '           ^ Expected "=", "==", "!=", "<", ">", "in", "notin", "," or the end of the text, found "b".',
      ],
    ],
    ['a="🚀é日" b', ['a="🚀é日" b', '          ^ Expected "," or the end of the text, found "b".']],
    ['a=🚀🚀', ['a=🚀🚀', '  ^^^^ Expected a value, found "🚀🚀".']],
    ['a=\n\u0007b', ['a=\\n\\u0007b', '    ^^^^^^ Expected a value, found "\\u0007".']],
    ['', ['', '^ A selector is not empty: write * to select everything.']],
  ])('%j', (text, lines) => {
    expect(shown(text)).toEqual(lines)
  })

  test('are shown with the part of a long text that they are in', () => {
    const text = `${'a=b,'.repeat(10)}c d,${'e=f,'.repeat(10)}g h`
    expect(shown(text, 30)).toEqual([
      '…a=b,a=b,c d,e=f,e=f,e=f,e=f,…',
      '           ^ Expected "=", "==", "!=", "<", ">", "in", "notin", "," or the end of the text, found "d".',
      '…e=f,e=f,g h',
      '           ^ Expected "=", "==", "!=", "<", ">", "in", "notin", "," or the end of the text, found "h".',
    ])
  })

  test('have carets within the line, where the error is longer', () => {
    const [line, carets] = shown(`a="${'b'.repeat(100)}`, 20)
    expect(line).toBe(`a="${'b'.repeat(15)}…`)
    expect(carets).toBe(`  ${'^'.repeat(17)} This text begins with a quotation mark and has none at its end.`)
  })
})
