#!/bin/sh
# A program plugin in shell: follows every conversation and approves each tool call. Needs "approve": true in user settings.
# {"approver": {"command": ["./approve.sh"], "approve": true}}
text() { printf '%s' "$1" | sed -n "s/.*\"$2\":\"\([^\"]*\)\".*/\1/p"; }
while IFS= read -r line; do
  case $line in
    '{"type":"describe"'*)
      echo '{"type":"describe","name":"approver","version":"1","description":"Approves every tool call."}'
      exit ;;
    '{"type":"init"'*)
      echo '{"type":"ready","protocol":1}'
      echo '{"type":"subscribe","sub_id":"all","conversation":"*","events":[]}' ;;
    *'"respond":"tool_approval"'*)
      call=$(printf '%s' "$line" | sed 's/.*"type":"tool_call_request","id":"\([^"]*\)".*/\1/')
      conversation=$(printf '%s' "$line" | sed 's/^{"type":"event","sub_id":"all","conversation":"\([^"]*\)".*/\1/')
      answer="\"conversation\":\"$conversation\",\"tool_call_id\":\"$call\",\"action\":\"approve\""
      echo "{\"type\":\"respond\",\"sub_id\":\"all\",\"respond\":\"tool_approval\",$answer}"
      echo "{\"type\":\"print\",\"text\":\"Approved $call.\"}" ;;
    '{"type":"error"'*) echo "{\"type\":\"log\",\"level\":\"error\",\"message\":\"refused: $(text "$line" message)\"}" ;;
    '{"type":"shutdown"'*) echo '{"type":"exit","code":0}'; exit ;;
  esac
done
