import { done, missed, T, unfinished } from './ending.ts';

export const GERMAN = [
  ...unfinished(
    ['a word that is cut before it', `Danach evtl. ${T}`, `Dann kommt das Paket inkl. ${T}`],
    [
      'half a sentence, wrapped at more than 80 columns',
      `Ich habe alle vier Testläufe noch einmal durchgesehen und kann deshalb heute noch nicht mit gutem Gewissen schreiben\n${T}`,
    ],
    [
      'denied',
      `Ich schreibe noch nicht ${T}, weil zwei Tests fehlschlagen.`,
      `Kein ${T}: der Build bricht ab.`,
      `Die Arbeit ist nicht COMPLETE.`,
      `${T} wäre jetzt gelogen.`,
    ],
    [
      'to come',
      `Als Nächstes kommt die Doku, danach ${T}`,
      `Sobald alles grün ist, folgt ${T}.`,
      `Morgen kann ich ${T} schreiben.`,
      `Ich werde mit ${T} enden, wenn die Migration durch ist.`,
    ],
    [
      'on a condition',
      `Falls der Test besteht, gilt: ${T}`,
      `Wenn nichts mehr fehlt, lautet die letzte Zeile:\n\n${T}`,
      `Erst nach der Freigabe durch das Team schreibe ich\n${T}`,
    ],
    [
      'a question',
      `Soll ich ${T} ausgeben?`,
      `Ist es damit COMPLETE?`,
      `Reicht das schon für COMPLETE?\n\nCOMPLETE?`,
    ],
    [
      'quoted',
      `In der Aufgabe steht: „${T}“`,
      `> ${T}\n\nDas soll ich am Ende schreiben, bin aber noch nicht so weit.`,
      `Die Anweisung war:\n> Ende mit\n${T}`,
      `»${T}« ist die verlangte Zeile.`,
    ],
    [
      'code',
      `Die Zeile dafür ist \`${T}\`.`,
      `Am Ende steht dann:\n\n    ${T}`,
      `Format: \`\`\`\n${T}\n\`\`\``,
      `So sähe es aus:\n\n\`\`\`\nAlles fertig.\n${T}`,
    ],
    [
      'a field',
      `Status: nicht COMPLETE`,
      `Phase 1: COMPLETE, Phase 2: offen`,
      `Fortschritt 3/5, Ziel: COMPLETE`,
    ],
    [
      'an abbreviation before it',
      `Es fehlen noch Tests, Doku und ggf. ${T}`,
      `Eine Schlusszeile, z. B. ${T}`,
      `Eine Schlusszeile, z.B. ${T}`,
      `Schlusszeile, vgl. ${T}`,
      `Es bleibt offen: Doku bzw. ${T}`,
    ],
    [
      'taken back behind it',
      `${T}\n\nMoment, ein Test schlägt doch noch fehl.`,
      `${T}\n\nNachtrag: die Migration auf Staging ist noch nicht gelaufen.`,
      `Alles erledigt.\n\nCOMPLETE\n\nNein, die Doku fehlt noch.`,
    ],
    ['an open box behind it', `${T}\n\n- [ ] Changelog schreiben`],
    ['a numbered line', `Noch offen: 1. Tests 2. Doku 3. ${T}`],
    ['a list of states', `OFFEN\nIN ARBEIT\nCOMPLETE`],
    [
      'half a sentence',
      `Der Zustand der Aufgabe ist meiner Ansicht nach noch nicht\nCOMPLETE`,
      `Ich kann heute guten Gewissens noch nicht behaupten, es sei\n${T}`,
    ],
  ),
  ...done(
    [
      'on the last line',
      `Alle Tests laufen durch.\n\n${T}`,
      `Fertig, 42 von 42 Tests bestehen.\n${T}`,
      `Ich habe den Fehler behoben und die Doku ergänzt.\n\n**${T}**`,
      `## Ergebnis\n- Fehler behoben\n- Tests ergänzt\n\n${T}`,
      `Der Build ist grün.\n\n✅ ${T}`,
    ],
    [
      'behind a sentence',
      `Alles ist erledigt. ${T}`,
      `Der letzte Test besteht! ${T}`,
      `Schlägt noch etwas fehl? Nein. ${T}`,
      `Der Lauf dauerte 3,2 s. ${T}`,
      `Gelöst mit Plan B. ${T}`,
    ],
    [
      'bare',
      `Die Migration ist durch.\n\nCOMPLETE`,
      `Alles geprüft.\nCOMPLETE.`,
      `# Abschluss\n\nCOMPLETE`,
      `Alles geprüft! 🎉\n\n**COMPLETE**`,
    ],
    [
      'after a mention',
      `Ich durfte ${T} erst schreiben, wenn alles läuft. Nun läuft alles.\n\n${T}`,
    ],
  ),
  ...missed(
    ['a summary behind it', `${T}\n\nZusammenfassung: drei Dateien geändert, alle Tests grün.`],
    ['a bare closing sentence', `Alle Tests bestehen. COMPLETE`, `Die Arbeit ist getan! COMPLETE!`],
    ['behind a bullet', `- Tests grün\n- ${T}`],
  ),
];
