// The name under which Earshot sends HTTP requests. Contains nothing about this machine.

export const USER_AGENT = 'Earshot (VS Code extension)';
