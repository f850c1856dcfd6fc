package tpch

import "strings"

// weighted lists words that share a weight.
type weighted struct {
	weight int
	words  string // separated by commas
}

// The word lists of the pseudo text, in the order of their cumulative weights. ("whithout" is how
// dbgen spells it.)
var (
	nouns = []weighted{
		{40, "packages,requests,accounts,deposits"},
		{20, "foxes,ideas,theodolites,pinto beans,instructions"},
		{10, "dependencies,excuses,platelets,asymptotes"},
		{5, "courts,dolphins"},
		{1, "multipliers,sauternes,warthogs,frets,dinos,attainments,somas,Tiresias,patterns,forges," +
			"braids,frays,warhorses,dugouts,notornis,epitaphs,pearls,tithes,waters,orbits,gifts,sheaves," +
			"depths,sentiments,decoys,realms,pains,grouches,escapades,hockey players"},
	}
	verbs = []weighted{
		{20, "sleep,wake,are,cajole,haggle"},
		{10, "nag,use,boost"},
		{5, "affix,detect,integrate"},
		{1, "maintain,nod,was,lose,sublate,solve,thrash,promise,engage,hinder,print,x-ray,breach,eat," +
			"grow,impress,mold,poach,serve,run,dazzle,snooze,doze,unwind,kindle,play,hang,believe,doubt"},
	}
	adverbs = []weighted{
		{1, "sometimes,always,never"},
		{50, "furiously,slyly,carefully"},
		{40, "blithely"},
		{30, "quickly"},
		{20, "fluffily"},
		{1, "slowly,quietly,ruthlessly,thinly,closely,doggedly,daringly,bravely,stealthily,permanently," +
			"enticingly,idly,busily,regularly,finally,ironically,evenly,boldly,silently"},
	}
	prepositions = []weighted{
		{50, "about,above,according to,across,after"},
		{40, "against,along"},
		{30, "alongside of,among"},
		{20, "around"},
		{10, "at"},
		{1, "atop,before,behind,beneath,beside,besides,between,beyond,by,despite,during,except,for,from," +
			"in place of,inside,instead of,into,near,of,on,outside,over,past,since,through,throughout,to," +
			"toward,under,until,up,upon,whithout,with,within"},
	}
	auxiliaries = []weighted{
		{1, "do,may,might,shall,will,would,can,could,should,ought to,must,will have to,shall have to," +
			"could have to,should have to,must have to,need to,try to"},
	}
	adjectives = []weighted{
		{20, "special,pending,unusual,express"},
		{1, "furious,sly,careful,blithe,quick,fluffy,slow,quiet,ruthless,thin,close,dogged,daring,brave," +
			"stealthy,permanent,enticing,idle,busy"},
		{50, "regular"},
		{40, "final,ironic"},
		{30, "even"},
		{20, "bold"},
		{10, "silent"},
	}
	terminators = []weighted{{50, "."}, {1, ";,:,?,!,--"}}

	// Sentences are made of noun phrases N, verb phrases V, prepositional phrases P and a
	// terminator T.
	sentences = []weighted{{3, "NVT,NVPT,NVNT"}, {1, "NPVNT,NPVPT"}}
	// Noun phrases are made of adverbs D, adjectives J (j with a comma behind) and nouns N.
	nounPhrases = []weighted{{10, "N"}, {20, "JN"}, {10, "jJN"}, {50, "DJN"}}
	// Verb phrases are made of verbs V, auxiliaries X and adverbs D.
	verbPhrases = []weighted{{30, "V"}, {1, "XV"}, {40, "VD"}, {1, "XVD"}}
)

// The word lists of the other columns; every word is as likely as the others.
var (
	colors = strings.Fields("almond antique aquamarine azure beige bisque black blanched blue blush brown " +
		"burlywood burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim " +
		"dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian " +
		"ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint " +
		"misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff purple " +
		"red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle " +
		"tomato turquoise violet wheat white yellow")
	partTypes = product("STANDARD SMALL MEDIUM LARGE ECONOMY PROMO", "ANODIZED BURNISHED PLATED POLISHED BRUSHED",
		"TIN NICKEL BRASS STEEL COPPER")
	containers   = product("SM LG MED JUMBO WRAP", "CASE BOX BAG JAR PACK PKG CAN DRUM")
	segments     = strings.Fields("AUTOMOBILE BUILDING FURNITURE HOUSEHOLD MACHINERY")
	priorities   = strings.Split("1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW", ",")
	instructions = strings.Split("DELIVER IN PERSON,COLLECT COD,TAKE BACK RETURN,NONE", ",")
	shipModes    = strings.Split("REG AIR,AIR,RAIL,TRUCK,MAIL,FOB,SHIP", ",")
	regions      = strings.Split("AFRICA,AMERICA,ASIA,EUROPE,MIDDLE EAST", ",")
	nations      = strings.Split("ALGERIA,ARGENTINA,BRAZIL,CANADA,EGYPT,ETHIOPIA,FRANCE,GERMANY,INDIA,INDONESIA,"+
		"IRAN,IRAQ,JAPAN,JORDAN,KENYA,MOROCCO,MOZAMBIQUE,PERU,CHINA,ROMANIA,SAUDI ARABIA,VIETNAM,RUSSIA,"+
		"UNITED KINGDOM,UNITED STATES", ",")
	// nationRegions holds the region of each nation.
	nationRegions = []int32{0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1}
)

// product joins one word of each list with blanks, the last list running fastest.
func product(lists ...string) []string {
	out := []string{""}
	for i, list := range lists {
		var longer []string
		for _, prefix := range out {
			for word := range strings.FieldsSeq(list) {
				if i > 0 {
					word = prefix + " " + word
				}
				longer = append(longer, word)
			}
		}
		out = longer
	}
	return out
}
