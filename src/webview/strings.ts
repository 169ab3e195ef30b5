// Every word that the page says, in one place, so that it can be translated.
import type { Level } from '../protocol/notification.ts';
import type { ToolState } from '../protocol/webview.ts';

const ANNOUNCED = 600;

export const strings = {
  transcript: 'Conversation',
  you: 'You',
  earshot: 'Earshot',
  automatedEvent: 'Automated event',
  thinking: 'Thinking',
  thought: 'Thoughts',
  working: 'Working…',
  truncated: 'The answer was cut off before its end.',
  copy: 'Copy',
  copied: 'Copied',
  copyAnswer: 'Copy answer',
  code: 'Code',
  table: 'Table',
  taskDone: 'Done',
  taskOpen: 'To do',
  output: 'Output',
  noOutput: 'No output',
  arguments: 'Arguments',
  command: 'Command',
  noArguments: 'No arguments',
  showEarlier: (count: number) => `Show earlier (${count})`,
  scrollToBottom: 'Scroll to the newest',
  loading: 'Loading the conversation…',

  states: {
    approval: 'Needs approval',
    running: 'Running',
    done: 'Done',
    failed: 'Failed',
    rejected: 'Rejected',
    interrupted: 'Interrupted',
  } satisfies Record<ToolState, string>,

  levels: { info: 'Information', warning: 'Warning', error: 'Error', critical: 'Critical' } satisfies Record<
    Level,
    string
  >,

  verbs: {
    read: 'Read',
    list: 'List files',
    search: 'Search',
    edit: 'Edit',
    patch: 'Apply patch',
    write: 'Write',
    move: 'Move',
    delete: 'Delete',
    run: 'Run',
    runTask: 'Run task',
    diagnostics: 'Check problems',
    fetch: 'Fetch',
    watch: 'Watch',
    readNotifications: 'Read notifications',
  },

  approvalLabel: (title: string) => `Approval: ${title}`,
  approvalQuestion: {
    run_command: 'Earshot wants to run this command.',
    read_file: 'Earshot wants to read this file.',
    list_files: 'Earshot wants to list this folder.',
    write_file: 'Earshot wants to write this file.',
    edit_file: 'Earshot wants to change this file.',
    apply_patch: 'Earshot wants to change files.',
    move_file: 'Earshot wants to move this file.',
    delete_file: 'Earshot wants to delete this file.',
  } as Readonly<Record<string, string>>,
  approvalQuestionOther: (name: string) => `Earshot wants to use the tool ${name}.`,
  approve: 'Approve',
  approveAlways: 'Always',
  approveAlwaysTitle: (what: string) => `Approve, and do not ask again for: ${what}`,
  reject: 'Reject',
  modify: 'Modify…',
  modifyTitle: 'Change what is run',
  modifyCancel: 'Back',
  modifyRun: 'Run this',
  modifyCommand: 'Command to run instead',
  modifyArguments: 'Arguments as JSON',
  modifyNotObject: 'This is not a JSON object.',
  approvalBecause: (reason: string) => `Asked because ${reason}`,
  approvalProblem: (problem: string) => `Your change could not be taken: ${problem}`,
  rejectReason: 'Reason for rejecting (optional)',
  hiddenCharacters: 'Characters that cannot be seen are written as ⟨U+…⟩.',

  notifications: (shown: number, total: number) => {
    const noun = total === 1 ? 'notification' : 'notifications';
    return shown < total ? `${shown} of ${total} ${noun}` : `${total} ${noun}`;
  },
  moreLabels: (count: number) => `+${count}`,
  carriedText: 'What the model was told, word for word',
  tokens: (count: number) => `≈ ${count} ${count === 1 ? 'token' : 'tokens'}`,
  receipts: { carried: 'In the log', accepted: 'The model has it' },

  helloTitle: 'Hello, I am Earshot.',
  hello: 'Tell me what you would like to do in this folder.',
  helloHears:
    'While I work I hear what happens around me: your edits, failed builds, new errors. I am told at the next moment I can listen, and you see exactly what I was told.',
  tryThis: 'Try one of these',
  suggestions: ['list the files', 'read README.md', 'run npm test'],
  versions: (version: string, hostVersion: string) => `Earshot ${version} · VS Code ${hostVersion}`,

  composer: 'Message to Earshot',
  placeholder: 'Ask, or say what to do',
  placeholderRunning: 'Earshot is working…',
  placeholderClosed: 'Nothing can be sent right now',
  closedHint: 'Nothing can be sent right now; the message at the top says why. Your text is kept.',
  runningHint: 'Stop the turn to send, or wait.',
  tooLong: 'This text is too long to send.',
  send: 'Send',
  sendTitle: 'Send (Enter)',
  stop: 'Stop',
  stopTitle: 'Stop the turn',
  contextUsed: (share: number) => `${Math.round(share * 100)} %`,
  contextTitle: (share: number, tokens: number, notifications: number) =>
    `${Math.round(share * 100)} % of the context window is used; ${tokens.toLocaleString()} tokens in all, ≈ ${notifications.toLocaleString()} of them for notifications.`,
  cost: (cost: number) => cost.toFixed(cost < 1 ? 3 : 2),
  waiting: (count: number) => `${count} waiting to be told`,
  model: 'Model',

  announceAnswer: (text: string) =>
    `Earshot answered: ${text.length > ANNOUNCED ? `${text.slice(0, ANNOUNCED)}…` : text}`,
  announceApproval: (title: string) => `Approval needed: ${title}`,
};
