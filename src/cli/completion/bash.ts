import type { OutlinedFlag, Place } from './outline.ts'

/** The completion script for bash 3.2 and later. */
export function bashScript(places: readonly Place[]): string {
  return `# bash completion for ctl; generated, do not edit
# Source it, or put it where bash-completion looks: ctl completion install

# Sets what may follow the command words in $1.
_ctl_at() {
  subs='' flags='' valued='' files='' choices='' named='' names=''
  case "$1" in
${places.map(placeCase).join('\n')}
    *) return 1 ;;
  esac
}

# Sets \`choices\` to what the value of flag $2 of the command $1 may be.
_ctl_values() {
  case "$1 $2" in
${places.flatMap(valueCases).join('\n')}
    *) return 1 ;;
  esac
}

# Offers what \`ctl __complete\` answers for the line up to the cursor. It has 300 ms and never fails aloud.
_ctl_names() {
  local offer
  while IFS=$'\\t' read -r offer _; do
    [[ -n $offer ]] || continue
    [[ $cur == [\\"\\']* ]] || printf -v offer '%q' "$offer"
    COMPREPLY+=("$offer")
  done < <(ctl __complete bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  # A label goes on after its key. bash 3.2 has no compopt, and adds its space.
  case "\${#COMPREPLY[@]} \${COMPREPLY[0]:-}" in
    '1 '*'=' | '1 '*'(') compopt -o nospace 2>/dev/null || true ;;
  esac
}

_ctl() {
  local subs flags valued files choices named names
  local cur="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at='' word next=''
  local index
  COMPREPLY=()
  _ctl_at ''
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [[ -n $next ]]; then next=''; continue; fi
    if [[ $word == -* ]]; then
      [[ " $valued " == *" $word "* ]] && next=1
      continue
    fi
    [[ " $subs " == *" $word "* ]] || break
    at="\${at:+$at }$word"
    _ctl_at "$at"
  done
  if [[ $before == -* && " $valued " == *" $before "* ]]; then
    if _ctl_values "$at" "$before"; then COMPREPLY=($(compgen -W "$choices" -- "$cur"))
    elif [[ " $files " == *" $before "* ]]; then COMPREPLY=($(compgen -f -- "$cur"))
    elif [[ " $named " == *" $before "* ]]; then _ctl_names
    fi
    return
  fi
  if [[ \${COMP_LINE:0:COMP_POINT} =~ (^|[[:space:]])(--[a-z-]+)=[^[:space:]]*$ ]]; then
    [[ " $named " == *" \${BASH_REMATCH[2]} "* ]] && _ctl_names
    return
  fi
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$subs $choices" -- "$cur"))
    [[ -n $names ]] && _ctl_names
  fi
}

complete -F _ctl ctl
`
}

function placeCase({ path, children, flags, choices, names: asks }: Place): string {
  const valued = flags.filter(({ takesValue }) => takesValue)
  const sets = [
    ['subs', children.map(({ word }) => word)],
    ['flags', flags.map(({ name }) => `--${name}`)],
    ['valued', valued.flatMap(spellings)],
    ['files', valued.filter(({ isFile }) => isFile).flatMap(spellings)],
    ['choices', choices],
    ['named', valued.filter(({ names }) => names).flatMap(spellings)],
    ['names', asks ? ['yes'] : []],
  ] as const
  const assignments = sets
    .filter(([, words]) => words.length > 0)
    .map(([name, words]) => `${name}='${words.join(' ')}'`)
  return `    '${path}') ${assignments.join(' ')} ;;`
}

function valueCases({ path, flags }: Place): readonly string[] {
  return flags
    .filter(({ choices }) => choices.length > 0)
    .map(
      (flag) =>
        `    ${spellings(flag)
          .map((word) => `'${path} ${word}'`)
          .join(' | ')}) choices='${flag.choices.join(' ')}' ;;`,
    )
}

function spellings({ name, short }: OutlinedFlag): readonly string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}
