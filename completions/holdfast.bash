# Completion for holdfast(1) in bash: verbs, options, their values, the names of locks that are held, and for `run` and
# `elect` the command. The list of options comes from the tool itself.

# The options of a verb, or of the tool, one on a line: `--name`, or `--name WHAT` if it takes a value.
_holdfast_options() {
  "$1" help "${@:2}" 2>/dev/null </dev/null | awk -v quote="'" '
    /^  +-/ {
      letter = $1 ~ /,$/ ? substr($1, 1, 2) : ""
      name = letter ? $2 : $1
      value = letter ? $3 : $2
      gsub(quote, "", value)
      value = value ~ /^[A-Z]+$/ ? " " value : ""
      if (letter) print letter value
      print name value
    }'
}

_holdfast_kinds() {
  local more=
  [[ $1 == @(inspect|wait|break|ls) ]] && more=permit
  [[ $1 == @(inspect|ls) ]] && more+=' semaphore latch'
  echo "lock fenced fair simple spin read-write $more"
}

# Asking for names must not take long, nor start a server.
_holdfast_names() {
  [[ $HOLDFAST_URL == local:* ]] && return
  local pattern
  pattern=$(printf '%s' "$2" | sed 's/[][*?\\]/\\&/g')
  timeout 1 "$1" ls -q -- "$pattern*" 2>/dev/null </dev/null | while IFS= read -r name; do
    [[ $name == '"'* ]] || printf '%q\n' "$name"
  done
}

_holdfast() {
  local line=${COMP_LINE:0:COMP_POINT} tool=${COMP_WORDS[0]} verb= divided= needs_value= current previous word options
  local -a words
  local IFS=$' \t\n'
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=${words[-1]}
  for word in "${words[@]:1:${#words[@]}-2}"; do
    if [[ $needs_value ]]; then
      needs_value=
    elif [[ $word == --url || $word == --url-file || $word == --password-file ]]; then
      needs_value=1
    elif [[ -z $verb && $word != -* ]]; then
      verb=$word
    elif [[ $verb == @(run|elect) && $word == -- ]]; then
      divided=1
    fi
  done

  COMPREPLY=()
  if [[ $divided ]]; then
    if declare -F _command_offset >/dev/null; then
      local i=1
      while [[ ${COMP_WORDS[i]} != -- ]]; do ((i++)); done
      _command_offset $((i + 1))
    else
      mapfile -t COMPREPLY < <(compgen -c -f -- "$current")
    fi
    return
  fi

  previous=
  ((${#words[@]} > 2)) && previous=${words[-2]}
  if [[ $current == --*=* ]]; then
    previous=${current%%=*}
    current=${current#*=}
  fi
  options=$(_holdfast_options "$tool" ${verb:+"$verb"})
  local value=
  [[ $previous == -* ]] && value=$(sed -n "s/^$previous //p" <<<"$options")
  case $value in
    KIND) mapfile -t COMPREPLY < <(compgen -W "$(_holdfast_kinds "$verb")" -- "$current") ;;
    SEVERITY) mapfile -t COMPREPLY < <(compgen -W 'danger warning note unknown' -- "$current") ;;
    WHAT) mapfile -t COMPREPLY < <(compgen -W 'term kill warn' -- "$current") ;;
    NAME) mapfile -t COMPREPLY < <(_holdfast_names "$tool" "$current") ;;
    FILE) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    URL) mapfile -t COMPREPLY < <(compgen -W 'redis:// rediss:// redis+sentinel:// rediss+sentinel:// redis+cluster:// rediss+cluster:// unix:// local:' -- "$current") ;;
    '') case $current in
      -*) mapfile -t COMPREPLY < <(compgen -W "$(sed 's/ .*//' <<<"$options")" -- "$current") ;;
      *) case $verb in
        '') mapfile -t COMPREPLY < <(compgen -W 'run elect acquire renew release ls inspect wait break doctor top exporter help' -- "$current") ;;
        help) mapfile -t COMPREPLY < <(compgen -W 'run elect acquire renew release ls inspect wait break doctor top exporter' -- "$current") ;;
        run | elect | acquire | inspect | wait | break) mapfile -t COMPREPLY < <(_holdfast_names "$tool" "$current") ;;
      esac ;;
    esac ;;
  esac

  # What readline has split off must not be repeated.
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    local before=${current%"${current##*:}"}
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
  fi
}
complete -F _holdfast holdfast
