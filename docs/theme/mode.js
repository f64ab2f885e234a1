// Before anything is drawn: light or dark, as chosen here before or as the system says.
'use strict';
(function () {
  const root = document.documentElement;
  let chosen = null;
  try { chosen = localStorage.getItem('tilewise-mode'); } catch (e) { /* no storage: the system decides */ }
  const dark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.classList.add('js', dark ? 'dark-mode' : 'light-mode');
  // Paper is white: light letters of the dark mode would not be seen on it.
  let was_dark = false;
  addEventListener('beforeprint', () => {
    was_dark = root.classList.contains('dark-mode');
    if (was_dark) root.classList.replace('dark-mode', 'light-mode');
  });
  addEventListener('afterprint', () => {
    if (was_dark) root.classList.replace('light-mode', 'dark-mode');
  });
})();
