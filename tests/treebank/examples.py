"""Small texts of our own in every format."""

from __future__ import annotations

CONLLU = """\
# newdoc id = tales
# sent_id = tales-1
# text = Don't wake it, she said.
1-2	Don't	_	_	_	_	_	_	_	_
1	Do	do	AUX	VB	Mood=Imp	3	aux	3:aux	_
2	n't	not	PART	RB	_	3	advmod	3:advmod	_
3	wake	wake	VERB	VB	Mood=Imp	6	ccomp	6:ccomp	_
4	it	it	PRON	PRP	_	3	obj	3:obj	SpaceAfter=No|Gloss=a b
4.1	there	there	ADV	_	_	_	_	3:advmod	CopyOf=9
5	,	,	PUNCT	,	_	6	punct	6:punct	_
6-7	she said	_	_	_	_	_	_	_	SpaceAfter=No
6	she said	say	VERB	VBD	_	0	root	0:root	_
7	.	.	PUNCT	.	_	6	punct	6:punct	_

# an unknown comment
0.1	_	_	_	_	_	_	_	_	_
0.2	_	_	_	_	_	_	_	_	_
1	Čas	čas	NOUN	_	_	2	nsubj	_	_
2	letí	letět	VERB	_	_	0	root	_	SpaceAfter=No
3	!	!	PUNCT	_	_	2	punct	_	_

"""

CONLLX = """\
1	They	they	P	PRP	_	2	SBJ	_	_
2	sing	sing	V	VB	pl	0	ROOT	_	_

1	Yes	yes	U	UH	_	0	ROOT	_	_
2	.	.	.	.	_	0	P	_	_

"""

CONLL2008 = """\
1	They	they	PRP	PRP	They	they	PRP	2	SBJ	_	A0
2	re-read	re-read	VBD	VBD	re	re	VBD	0	ROOT	read.01	_
3	_	_	_	_	read	read	VBD	2	HYPH	_	_

1	Oh	oh	UH	UH	Oh	oh	UH	0	ROOT	_

"""

CONLL2009 = """\
1	They	they	they	PRP	PRP	pl	_	2	2	SBJ	SBJ	_	_	A0
2	sing	sing	sing	VBP	VBP	_	_	0	0	ROOT	ROOT	Y	sing.01	_

1	Oh	oh	oh	UH	UH	_	_	0	0	ROOT	ROOT	_	_

"""

ALL = {"conllu": CONLLU, "conllx": CONLLX, "conll2008": CONLL2008, "conll2009": CONLL2009}
